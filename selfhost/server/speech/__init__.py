"""From words to sound: voices, how a text is cut for speaking, and the formats it is sent in."""

"""From sound to words: decoding, judging what was decoded, and deciding which words are settled."""

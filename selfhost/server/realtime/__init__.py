"""OpenAI's realtime transcription protocol over a WebSocket."""

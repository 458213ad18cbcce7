import os

# onnxruntime reports to its maker from the moment it is imported, and looks its address up even
# where it cannot be reached.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

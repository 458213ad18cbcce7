from __future__ import annotations

from hypothesis import settings

# No deadline: a busy machine is no defect of hearing. No database: a test leaves no files behind.
settings.register_profile("booking", deadline=None, database=None)
settings.load_profile("booking")

"""An append-only, checksummed file of records, and the TinyDB storage on top of it."""

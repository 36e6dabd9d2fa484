"""The rain behind the transcript: pictures by the Kitty graphics protocol, or dim characters in blank cells."""

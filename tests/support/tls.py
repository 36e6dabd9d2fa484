"""A certificate for this machine that nobody trusts, for servers in tests; valid until 2126."""

import ssl
from pathlib import Path

_KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLLirajlPhsb9Sciw
w9OsflF3m6GCjrfhDgpW8yHWVlKhRANCAAROSpzjsXwOnzai3dSq8J4Wu2hVavpA
3QnHIg596T6ywkfRV0BiWGKfYQeh+kI5fvlJJcY/h3ertPTIROyIh4Ax
-----END PRIVATE KEY-----
"""

_CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUfAfcYI2yCwlBrIJCzt4YdvkDYZ4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDIwNDExOVoYDzIxMjYxMTA2
MjA0MTE5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAROSpzjsXwOnzai3dSq8J4Wu2hVavpA3QnHIg596T6ywkfRV0BiWGKf
YQeh+kI5fvlJJcY/h3ertPTIROyIh4Axo28wbTAdBgNVHQ4EFgQU1Ps4Nn3NVMLM
/oTEa4jfecWSrMswHwYDVR0jBBgwFoAU1Ps4Nn3NVMLM/oTEa4jfecWSrMswDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgU4Ianx1Sc8gtCj20FD0ufcxsJ5XdBgnkA/ktGGrSC2sCIFrx
7Bb5TpQGtdIYVOFXvSydtTDqB+BJWHylAVjRZYpX
-----END CERTIFICATE-----
"""


def server_context(folder: Path) -> ssl.SSLContext:
    """Return what makes a server speak TLS; its two files are put into `folder`."""
    pem = folder / "localhost.pem"
    pem.write_text(_KEY + _CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context

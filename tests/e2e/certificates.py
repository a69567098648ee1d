# SPDX-License-Identifier: MIT
"""Certificates made on the spot with openssl's own program, in a directory that goes away."""
import pathlib
import shutil
import subprocess
import tempfile


class Authority:
    """Issues certificates for 127.0.0.1, each with a key of its own."""

    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="belfry-ca-"))
        self.certificate = self.home / "authority.pem"
        self._key = self.home / "authority.key"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-keyout", self._key, "-out", self.certificate, "-days", "2",
                      "-subj", "/CN=Belfry test authority")

    def issue(self, name):
        """The paths of a certificate and its key."""
        certificate, key = self.home / f"{name}.pem", self.home / f"{name}.key"
        request, extensions = self.home / f"{name}.csr", self.home / "extensions"
        extensions.write_text("subjectAltName=IP:127.0.0.1\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        self._openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey",
                      self._key, "-CAcreateserial", "-days", "1", "-extfile", extensions, "-out",
                      certificate)
        return certificate, key

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home, ignore_errors=True)

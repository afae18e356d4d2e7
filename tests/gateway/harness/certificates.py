# SPDX-License-Identifier: Apache-2.0
"""Certificates that live as long as a test, made by the openssl tool."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

SETTINGS = """
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[leaf]
subjectAltName = IP:127.0.0.1, DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


class Certificates:
    """An authority, and a server (127.0.0.1, localhost) and a client that it vouches for. NAME.crt and NAME.key are
    files of the folder for each NAME of authority, server and client."""

    def __init__(self, folder):
        if not shutil.which("openssl"):
            pytest.skip("there is no openssl in the PATH")
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "settings").write_text(SETTINGS)
        self.make("authority", "authority")
        for name in ("server", "client"):
            self.make(name, "leaf", "-CA", self.file("authority.crt"), "-CAkey", self.file("authority.key"))

    def file(self, name):
        return str(self.folder / name)

    def make(self, name, extensions, *signer):
        command = ["openssl", "req", "-x509", "-config", self.file("settings"), "-extensions", extensions]
        command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        command += ["-subj", f"/CN={name}", "-keyout", self.file(name + ".key"), "-out", self.file(name + ".crt")]
        done = subprocess.run([*command, *signer], capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()

    def context(self, with_client=True):
        """For a client that trusts the authority, and shows a certificate of its own or not."""
        context = ssl.create_default_context(cafile=self.file("authority.crt"))
        if with_client:
            context.load_cert_chain(self.file("client.crt"), self.file("client.key"))
        return context

# SPDX-License-Identifier: Apache-2.0
"""MariaDB as a process: on a free port, with its data in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from .poll import eventually, free_port
from .process import Process

START_LIMIT = 60.0
USER = "weir"
PASSWORD = "s/ecret@"


class MariaDbServer:
    """Runs when constructed; skips the test where there is no mariadbd.

    port          a free one
    url           of an empty database, with user and password, as configurations have it
    certificates  where given, the server speaks TLS
    """

    def __init__(self, certificates=None):
        if not shutil.which("mariadbd") or not shutil.which("mariadb-install-db"):
            pytest.skip("there is no mariadbd in the PATH")
        self.folder = Path(tempfile.mkdtemp(prefix="weir-mariadb-"))
        self.certificates = certificates
        self.port = None
        self.process = None
        try:
            self.install()
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def url(self):
        return f"mysql://{USER}:s%2Fecret%40@127.0.0.1:{self.port}/weir"

    def install(self):
        (self.folder / "init.sql").write_text(
            "CREATE DATABASE IF NOT EXISTS weir;\n"
            f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'%';\n"
            "DELETE FROM mysql.global_priv WHERE User = '';\nFLUSH PRIVILEGES;\n"
        )
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data", "--skip-test-db", *self.as_user()],
            check=True, capture_output=True, timeout=START_LIMIT,
        )

    @staticmethod
    def as_user():
        """The server refuses to run as root unless that is said."""
        return ["--user=root"] if os.geteuid() == 0 else []

    def start(self):
        chosen = self.port
        for _ in range(8):
            self.port = chosen or free_port()
            self.process = Process(self.arguments(), self.folder / "log")
            eventually(lambda: self.answers() or not self.process.is_running(), START_LIMIT, 0.05, "an answer of mariadbd")
            if self.process.is_running():
                return
        raise AssertionError(self.process.output())

    def arguments(self):
        arguments = [
            "mariadbd", "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/socket",
            f"--pid-file={self.folder}/pid", f"--init-file={self.folder}/init.sql", "--bind-address=127.0.0.1",
            f"--port={self.port}", "--innodb-buffer-pool-size=16M", "--performance-schema=OFF", "--skip-log-bin",
            "--skip-name-resolve", *self.as_user(),
        ]
        if self.certificates:
            arguments += ["--ssl-ca=" + self.certificates.file("authority.crt"),
                          "--ssl-cert=" + self.certificates.file("server.crt"),
                          "--ssl-key=" + self.certificates.file("server.key"), "--require-secure-transport=ON"]
        return arguments

    def client(self, statement):
        program = shutil.which("mariadb")
        return subprocess.run(
            [program, "--no-defaults", f"--socket={self.folder}/socket", f"--user={USER}", f"--password={PASSWORD}",
             "--batch", "--skip-column-names", "weir"],
            input=statement, capture_output=True, text=True, timeout=START_LIMIT, check=False,
        )

    def answers(self):
        return self.client("SELECT 1").returncode == 0

    def execute(self, statement):
        done = self.client(statement)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def clear(self):
        self.execute("DROP DATABASE weir; CREATE DATABASE weir;")

    def kill(self):
        self.process.kill()

    def close(self):
        if self.process:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

# SPDX-License-Identifier: Apache-2.0
"""A program, started by PlainOrigin: prints its port, and gives every request without a body the same short answer."""

import select
import socket

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
END = b"\r\n\r\n"


def serve():
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(listener.getsockname()[1], flush=True)
    ready = select.epoll()
    ready.register(listener, select.EPOLLIN)
    links = {}  # by descriptor: the socket, and the end of what came, where a request may have been cut
    while True:
        for descriptor, _ in ready.poll():
            if descriptor == listener.fileno():
                link, _ = listener.accept()
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                links[link.fileno()] = [link, b""]
                ready.register(link, select.EPOLLIN)
            elif not answer(links[descriptor]):
                ready.unregister(descriptor)
                links.pop(descriptor)[0].close()


def answer(link):
    """False: the other side has gone."""
    sock, rest = link
    try:
        data = sock.recv(65536)
        whole = rest + data
        sock.sendall(ANSWER * whole.count(END))
    except OSError:
        return False
    link[1] = whole[whole.rfind(END) + len(END):] if END in whole else whole
    return bool(data)


if __name__ == "__main__":
    serve()

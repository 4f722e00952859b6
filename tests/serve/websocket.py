"""A WebSocket client (RFC 6455) for tests."""
import base64
import os
import socket
import struct


class Refused(Exception):
    pass


class WebSocket:
    def __init__(self, port, path, headers=(), host="127.0.0.1", timeout=20):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *(f"{k}: {v}" for k, v in headers)]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.socket.recv(1)
            if not more:
                raise Refused("no answer")
            head += more
        self.status = int(head.split()[1])
        if self.status != 101:
            raise Refused(self.status)

    def send(self, data, opcode=2):
        mask = os.urandom(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data)) if len(data) < 65536 else b"\xff" + struct.pack(">Q", len(data))
        # XOR with the repeated mask, as one large number
        long = (mask * (len(data) // 4 + 1))[:len(data)]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(long, "big")).to_bytes(len(data), "big") if data else b""
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def exactly(self, n):
        data = bytearray()
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return bytes(data)

    def receive(self):
        """Opcode and bytes of the next message; a close is (8, b"code, reason")."""
        message, kind = b"", None
        while True:
            first, second = self.exactly(2)
            size = second & 127
            size = struct.unpack(">H", self.exactly(2))[0] if size == 126 else struct.unpack(">Q", self.exactly(8))[0] if size == 127 else size
            kind, message = kind or first & 15, message + self.exactly(size)
            if first & 0x80:
                return kind, message

    def closed(self):
        """Code and reason of the close that comes next, behind whatever else."""
        while True:
            kind, message = self.receive()
            if kind == 8:
                return struct.unpack(">H", message[:2])[0], message[2:].decode()

    def end(self):
        self.socket.close()

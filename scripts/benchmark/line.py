"""A proxy that simulates latency and bandwidth to a local server.

`line.py PORT SERVER_PORT ROUND_TRIP BYTES_PER_SECOND COUNT` takes connections on
PORT and connects to SERVER_PORT. What goes either way arrives half a round trip
(in seconds) later, and what the server sends in all connections together comes
no faster than that. COUNT is a file with the number of bytes that have come."""

import asyncio
import os
import sys
import time

# Bytes that go over the line together.
PIECE = 16 << 10

# Pieces of a connection that are under way at most, or wait to be.
UNDER_WAY = 64


class Line:
    """State shared by the connections."""

    def __init__(self, server, round_trip, bytes_per_second, count):
        self.server = server
        self.round_trip = round_trip
        self.bytes_per_second = bytes_per_second
        self.count = count
        self.came = 0
        # The time when all data sent so far has left the server.
        self.busy_until = 0.0

    def sent(self, length):
        """The time when that many bytes have left the server, after all others."""
        self.busy_until = max(self.busy_until, time.monotonic()) + length / self.bytes_per_second
        return self.busy_until

    def note(self, length):
        """Counts bytes from the server."""
        self.came += length
        os.pwrite(self.count, str(self.came).encode(), 0)

    async def connect(self, from_client, to_client):
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.server)
        # Connecting takes a round trip before the first request.
        is_open = time.monotonic() + self.round_trip
        half = self.round_trip / 2
        await asyncio.gather(
            carry(from_client, to_server, lambda _: max(is_open, time.monotonic()) + half, lambda length: None),
            carry(from_server, to_client, lambda length: self.sent(length) + half, self.note),
        )


async def carry(source, target, arrival, note):
    """Takes what comes from one end to the other, until either goes; `note` is
    called with the number of bytes that have arrived."""
    way = asyncio.Queue(UNDER_WAY)

    async def send():
        try:
            while piece := await source.read(PIECE):
                await way.put((arrival(len(piece)), piece))
        except ConnectionError:
            pass
        await way.put((0, b""))

    sending = asyncio.create_task(send())
    try:
        while True:
            at, piece = await way.get()
            if not piece:
                break
            await asyncio.sleep(max(0, at - time.monotonic()))
            target.write(piece)
            await target.drain()
            note(len(piece))
    except ConnectionError:
        sending.cancel()
    target.close()


async def main(port, server, round_trip, bytes_per_second, count):
    count = os.open(count, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    line = Line(int(server), float(round_trip), float(bytes_per_second), count)
    listening = await asyncio.start_server(line.connect, "127.0.0.1", int(port))
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

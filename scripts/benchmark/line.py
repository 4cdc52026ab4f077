"""A proxy that simulates latency and bandwidth to a local server.

`line.py PORT SERVER_PORT ROUND_TRIP BYTES_PER_SECOND COUNT` accepts connections
on PORT and forwards them to SERVER_PORT. Data in either direction arrives half a
round trip (in seconds) later, and data from the server, over all connections
together, is limited to BYTES_PER_SECOND. COUNT is a file with the number of bytes
received from the server."""

import asyncio
import os
import sys
import time

# Bytes that are sent at a time.
PIECE = 16 << 10

# Maximum number of pieces of a connection that are in transit or wait to be
# sent.
IN_TRANSIT = 64


class Line:
    """State shared by the connections."""

    def __init__(self, server, round_trip, bytes_per_second, count):
        self.server = server
        self.round_trip = round_trip
        self.bytes_per_second = bytes_per_second
        self.count = count
        self.received = 0
        # The time when all data sent so far has left the server.
        self.busy_until = 0.0

    def sent(self, length):
        """The time when another `length` bytes have left the server."""
        self.busy_until = max(self.busy_until, time.monotonic()) + length / self.bytes_per_second
        return self.busy_until

    def note(self, length):
        """Counts bytes from the server."""
        self.received += length
        os.pwrite(self.count, str(self.received).encode(), 0)

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
    """Forwards data from one end to the other until either closes; `note` is
    called with the number of bytes that have arrived."""
    transit = asyncio.Queue(IN_TRANSIT)

    async def send():
        try:
            while piece := await source.read(PIECE):
                await transit.put((arrival(len(piece)), piece))
        except ConnectionError:
            pass
        await transit.put((0, b""))

    sending = asyncio.create_task(send())
    try:
        while True:
            at, piece = await transit.get()
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

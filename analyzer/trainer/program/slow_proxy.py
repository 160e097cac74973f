"""Forwards TCP connections to a local port with a fixed delay."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

CHUNK = 1 << 16


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, late: float) -> None:
    """Forward one direction of a connection, each chunk `late` seconds after its arrival."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=1024)

    async def read() -> None:
        data = b"-"
        while data:
            data = await reader.read(CHUNK)
            await queue.put((loop.time() + late, data))

    reading = asyncio.create_task(read())
    with suppress(ConnectionError):
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not data:
                break
            writer.write(data)
            await writer.drain()
    reading.cancel()
    writer.close()


async def main(listen: int, target: int, milliseconds: float) -> None:
    """Forward connections from port `listen` to local port `target` until killed."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        late = milliseconds / 1000
        await asyncio.gather(pump(reader, far_writer, late), pump(far_reader, writer, late))

    server = await asyncio.start_server(connected, "0.0.0.0", listen)  # noqa: S104 - in a network of its own
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))

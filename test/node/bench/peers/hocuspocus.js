/** A document on hocuspocus, whose awareness and stateless messages are a room: prints its port, and ends when it is killed. */
import { Server } from "@hocuspocus/server";

const server = new Server({
  address: "127.0.0.1",
  port: 0,
  quiet: true,
  async onStateless({ connection, document, payload }) {
    document.broadcastStateless(payload, (other) => other !== connection);
  },
});

await server.listen();
console.log(server.address.port);

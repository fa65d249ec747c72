/** A room on socket.io: prints its port, and ends when it is killed. */
import { createServer } from "node:http";
import { Server } from "socket.io";

const http = createServer();
const io = new Server(http, { transports: ["websocket"], serveClient: false });

io.on("connection", (socket) => {
  const { room } = socket.handshake.query;
  socket.join(room);
  socket.on("message", (text) => socket.to(room).emit("message", text));
  // Volatile, as its documentation advises for positions: a reader that is behind misses some.
  socket.on("cursor", (state) => socket.volatile.to(room).emit("cursor", state));
});

http.listen(0, "127.0.0.1", () => console.log(http.address().port));

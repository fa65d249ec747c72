/** y-websocket's server, which keeps documents in memory: prints its port, and ends when it is killed. */
import { createServer } from "node:http";
import { setupWSConnection } from "@y/websocket-server/utils";
import { WebSocketServer } from "ws";

const server = createServer();
const sockets = new WebSocketServer({ server });
sockets.on("connection", (socket, request) => setupWSConnection(socket, request));

server.listen(0, "127.0.0.1", () => console.log(server.address().port));

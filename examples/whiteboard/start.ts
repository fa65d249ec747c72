/** `npm run whiteboard`: starts the example with the organization that `npm start` printed. */
import type { AddressInfo } from "node:net";
import { startWhiteboard } from "./server.ts";

const { ACCOUNT_ID, API_KEY, ATRIUM_URL = "http://localhost:8787", PORT = "8790" } = process.env;
if (!ACCOUNT_ID || !API_KEY) {
  console.error("Set ACCOUNT_ID and API_KEY to the values that `npm start` printed, then run this again.");
  process.exit(1);
}
const server = await startWhiteboard({
  serverUrl: ATRIUM_URL,
  accountId: ACCOUNT_ID,
  apiKey: API_KEY,
  port: Number(PORT),
});
console.log(`Open http://localhost:${(server.address() as AddressInfo).port} in two windows.`);

/** Stands in for Next.js, which this repository does not install: the page as browsers have it, and the route handler. */
import type { Starter } from "./starter.ts";

const ENTRY = `
import { createRoot } from "react-dom/client";
import Page from "./app/page";
import "./app/page.css";

createRoot(document.body.appendChild(document.createElement("div"))).render(await Page());
`;

/** Next.js' `connection` resolves once there is a request. */
const CONNECTION = "export const connection = async () => {};\n";

const SERVER = `
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { POST } from "./app/token/route.ts";

const PAGE = '<!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css"><body><script type="module" src="/page.js"></script></body></html>';
const TYPES = { "/page.js": "text/javascript", "/page.css": "text/css" };

const server = createServer(async ({ method, url }, response) => {
  if (method === "POST" && url.startsWith("/token")) {
    const answer = await POST(new Request(new URL(url, "http://localhost"), { method }));
    response.writeHead(answer.status).end(await answer.text());
  } else if (url in TYPES) response.writeHead(200, { "Content-Type": TYPES[url] }).end(await readFile("." + url));
  else response.writeHead(200, { "Content-Type": "text/html" }).end(PAGE);
});
server.listen(0, () => console.log("http://localhost:" + server.address().port));
`;

/** Starts the app of the folder at `atriumUrl`; returns its address. */
export async function startApp(starter: Starter, atriumUrl: string): Promise<string> {
  await starter.write("entry.tsx", ENTRY);
  await starter.write("connection.ts", CONNECTION);
  await starter.write("server.mjs", SERVER);
  const address = JSON.stringify(JSON.stringify(atriumUrl));
  await starter.shell(
    `esbuild entry.tsx --bundle --format=esm --jsx=automatic --outfile=page.js --log-level=error --alias:next/server=./connection.ts --define:process.env.ATRIUM_URL=${address}`,
  );
  return starter.start(["--env-file=.env", "server.mjs"]);
}

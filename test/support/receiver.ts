/** A webhook receiver in Node.js whose path selects its behaviour, for tests in both runtimes. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import type { TestProject } from "vitest/node";
import { answerAsBucket } from "./bucket.ts";

/** A request that the receiver got. */
export interface Received {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body's bytes as Base64. */
  readonly base64: string;
}

const DRIBBLE_MS = 50;

async function bodyOf(request: IncomingMessage): Promise<Pick<Received, "body" | "base64">> {
  const bytes = Buffer.concat(await request.toArray());
  return { body: bytes.toString(), base64: bytes.toString("base64") };
}

/** Sends a byte now and then until the connection closes. */
function dribble(response: { write(text: string): unknown; once(event: "close", end: () => void): unknown }) {
  const timer = setInterval(() => response.write("."), DRIBBLE_MS);
  response.once("close", () => clearInterval(timer));
}

const flood = (response: ServerResponse) => {
  const more = () => {
    while (response.write("x".repeat(64 * 1024)));
    response.once("drain", more);
  };
  more();
};

/** Responses, with the `status` in their query, that wait until `/open/<name>/now` is requested; later requests do not wait. */
class Gates {
  readonly #waiting = new Map<string, ServerResponse[]>();
  readonly #open = new Set<string>();

  wait(name: string, response: ServerResponse): void {
    if (this.#open.has(name)) response.end("open");
    else this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), response]);
  }

  open(name: string): void {
    this.#open.add(name);
    for (const response of this.#waiting.get(name) ?? []) response.end("open");
  }
}

const gates = new Gates();
/** The names of `/fragile/<name>` that answer 503 now: `/break/<name>/now` adds one, `/repair/<name>/now` removes it. */
const broken = new Set<string>();

/** Responses of a Turnstile widget that were verified: each counts once. */
const verified = new Set<string>();

/** Answers as Turnstile's siteverify does: a response passes that begins with "passed", by the secret "secret". */
function siteverify(form: URLSearchParams): object {
  const [secret, response = ""] = [form.get("secret"), form.get("response") ?? ""];
  const refuse = (code: string) => ({ success: false, "error-codes": [code] });
  if (secret !== "secret") return refuse("invalid-input-secret");
  if (!response.startsWith("passed")) return refuse("invalid-input-response");
  if (verified.has(response)) return refuse("timeout-or-duplicate");
  verified.add(response);
  return { success: true, "error-codes": [], hostname: "atrium.test" };
}

function behave(url: URL, body: string, response: ServerResponse): void {
  const [, behaviour, argument = ""] = url.pathname.split("/");
  switch (behaviour) {
    case "gate":
      response.statusCode = Number(url.searchParams.get("status") ?? 200);
      gates.wait(argument, response);
      return;
    case "open":
      gates.open(argument);
      response.end("opened");
      return;
    case "fragile":
      response.writeHead(broken.has(argument) ? 503 : 200).end();
      return;
    case "break":
      broken.add(argument);
      response.end("broken");
      return;
    case "repair":
      broken.delete(argument);
      response.end("repaired");
      return;
    case "status":
      response.writeHead(Number(argument), Object.fromEntries(url.searchParams)).end(`answer ${argument}`);
      return;
    case "siteverify":
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(siteverify(new URLSearchParams(body))));
      return;
    case "sized":
      response.end("é".repeat(Number(argument)));
      return;
    case "silent":
      return;
    case "dribble":
      response.writeHead(200);
      dribble(response);
      return;
    case "flood":
      response.writeHead(200);
      flood(response);
      return;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "torn":
      response.writeHead(200, { "Content-Length": "100" }).write("half of it", () => response.destroy());
      return;
    default:
      response.end("ok");
  }
}

/** Starts a receiver; `GET /received/<name>` returns the requests to paths that end in `/<name>`. */
export async function startReceiver(): Promise<{
  readonly port: number;
  readonly stop: () => Promise<void>;
}> {
  const received = new Map<string, Received[]>();
  const listener: RequestListener = async (request, response) => {
    const url = new URL(request.url ?? "/", "http://receiver");
    const name = url.pathname.split("/").at(-1) ?? "";
    if (url.pathname.startsWith("/s3")) {
      answerAsBucket(request, Buffer.concat(await request.toArray()), response);
      return;
    }
    if (url.pathname.startsWith("/received/")) {
      response.end(JSON.stringify(received.get(name) ?? []));
      return;
    }
    const { method = "", headers } = request;
    const message = { method, headers: headers as Record<string, string>, ...(await bodyOf(request)) };
    received.set(name, [...(received.get(name) ?? []), message]);
    behave(url, message.body, response);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server whose response never ends its first header. */
async function startEndlessHeader(): Promise<{ readonly port: number; readonly stop: () => void }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    // Only after a request: clients treat an unrequested response as a broken connection.
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nX-Endless: ");
      dribble(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** "Discard", on which no one listens, and which no system gives to a listener on port 0. */
const CLOSED_PORT = 9;

declare module "vitest" {
  interface ProvidedContext {
    readonly receiver: {
      readonly port: number;
      readonly mumblerPort: number;
      readonly closedPort: number;
    };
  }
}

/** Runs around the tests in workerd, which can call servers but cannot be one. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const [receiver, endlessHeader] = [await startReceiver(), await startEndlessHeader()];
  provide("receiver", {
    port: receiver.port,
    mumblerPort: endlessHeader.port,
    closedPort: CLOSED_PORT,
  });
  return async () => {
    endlessHeader.stop();
    await receiver.stop();
  };
}

/** Uploads and downloads whole files as fast as possible, over a few persistent connections. */
import { Agent, request } from "node:http";
import { performance } from "node:perf_hooks";
import { CommandError } from "../../../../src/cli/process/command.ts";

/** A request that uploads, downloads or deletes a file. */
export interface Transfer {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Any other status fails the bench. */
  readonly status: number;
}

/** A response: its text if short, and its length. */
export interface Received {
  readonly text: string;
  readonly bytes: number;
}

const MAX_TEXT_BYTES = 64 * 1024;

/** Sends a request and reads the whole response. */
export function transfer(one: Transfer, agent: Agent, stop: AbortSignal): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = one.body === undefined ? {} : { "Content-Length": one.body.byteLength };
    const call = request(
      one.url,
      { method: one.method, headers: { ...one.headers, ...length }, agent, signal: stop },
      (response) => {
        let bytes = 0;
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (bytes <= MAX_TEXT_BYTES) chunks.push(chunk);
        });
        response.once("error", reject).once("end", () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === one.status) resolve({ text, bytes });
          else
            reject(new CommandError(`${one.method} answered ${response.statusCode}: ${text.slice(0, 200)}`));
        });
      },
    );
    call.once("error", reject).end(one.body);
  });
}

/** Repeats a request for `seconds` over `connections`, at least once each. Returns completed requests per second. */
export async function ratePerSecond(
  one: Transfer,
  connections: number,
  seconds: number,
  stop: AbortSignal,
  received: (answer: Received) => void,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const begunAt = performance.now();
  let count = 0;
  const repeat = async () => {
    do {
      received(await transfer(one, agent, stop));
      count += 1;
    } while (performance.now() - begunAt < seconds * 1000);
  };
  try {
    await Promise.all(Array.from({ length: connections }, repeat));
    return count / ((performance.now() - begunAt) / 1000);
  } finally {
    agent.destroy();
  }
}

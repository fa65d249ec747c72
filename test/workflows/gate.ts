/** Holds runs up: a program that fetches the gate's address waits there until the test opens it. */
import { expect, inject } from "vitest";
import type { Received } from "../support/receiver.ts";

const RECEIVER = `http://127.0.0.1:${inject("receiver").port}`;

export class Gate {
  readonly #name = crypto.randomUUID();

  get url(): string {
    return `${RECEIVER}/gate/${this.#name}`;
  }

  /** A program that tells the gate its event's id, waits there, and returns `word`. */
  codeSaying(word: string): string {
    return `export default async (event) => {
      await fetch("${this.url}", { method: "POST", body: event.id });
      return "${word}";
    };`;
  }

  /** What those who have come to the gate have told it. */
  async arrived(): Promise<string[]> {
    const received: Received[] = await (await fetch(`${RECEIVER}/received/${this.#name}`)).json();
    return received.map(({ body }) => body);
  }

  /** Waits until so many runs have come to the gate. */
  async reached(count = 1): Promise<void> {
    await expect.poll(async () => (await this.arrived()).length, { timeout: 30_000 }).toBe(count);
  }

  /** Lets those pass who wait, and whoever comes later. */
  async open(): Promise<void> {
    await fetch(`${RECEIVER}/open/${this.#name}/now`);
  }
}

/** A gate that holds runs: a program that fetches its URL waits until the test opens it. */
import { expect, inject } from "vitest";
import type { Received } from "../support/receiver.ts";

const RECEIVER = `http://127.0.0.1:${inject("receiver").port}`;

export class RunGate {
  readonly #name = crypto.randomUUID();

  get url(): string {
    return `${RECEIVER}/gate/${this.#name}`;
  }

  /** A program that sends the gate its event's id, waits there, and returns `word`. */
  codeReturning(word: string): string {
    return `export default async (event) => {
      await fetch("${this.url}", { method: "POST", body: event.id });
      return "${word}";
    };`;
  }

  async arrived(): Promise<string[]> {
    const received: Received[] = await (await fetch(`${RECEIVER}/received/${this.#name}`)).json();
    return received.map(({ body }) => body);
  }

  async reached(count = 1): Promise<void> {
    await expect.poll(async () => (await this.arrived()).length).toBe(count);
  }

  async open(): Promise<void> {
    await fetch(`${RECEIVER}/open/${this.#name}/now`);
  }
}

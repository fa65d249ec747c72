/** The Dockerfile, as far as tests run it without Docker: its command, its health check and its variables. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "./processes.ts";

export interface Container {
  /** The command, with the state folder in place of the volume and another port. */
  readonly command: (persistTo: string, port: number) => readonly string[];
  readonly health: (port: number) => readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly user: string;
  readonly volume: string;
}

const stringsIn = (json: string): readonly string[] => JSON.parse(json) as readonly string[];

export async function readContainer(): Promise<Container> {
  const text = (await readFile(path.join(ROOT, "Dockerfile"), "utf8")).replaceAll("\\\n", " ");
  const instruction = (name: string): string => {
    const found = [...text.matchAll(new RegExp(`^${name} (.+)$`, "gm"))].at(-1)?.[1];
    if (found === undefined) throw new Error(`The Dockerfile has no ${name}`);
    return found;
  };
  const [volume, port] = [instruction("VOLUME"), instruction("EXPOSE")];
  const health = /CMD (\[.+\])$/.exec(instruction("HEALTHCHECK"))?.[1] ?? "[]";
  const variables = instruction("ENV")
    .split(" ")
    .map((pair) => pair.split("="));
  return {
    command: (persistTo, other) => [
      ...stringsIn(instruction("CMD")).map((part) => (part === volume ? persistTo : part)),
      ...["--port", String(other)],
    ],
    health: (other) => stringsIn(health).map((part) => part.replaceAll(port, String(other))),
    variables: Object.fromEntries(variables),
    user: instruction("USER"),
    volume,
  };
}

/** The licences of the packages that are bundled into ours: each asks to be distributed with its code. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

const PACKAGES = path.join(import.meta.dirname, "../../../node_modules");
const PACKAGE = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

/** Name, version, licence and licence text of each package that these files, relative to the checkout, belong to. */
export async function bundledLicenses(files: readonly string[]): Promise<string> {
  const names = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []));
  const licenses = await Promise.all([...names].sort().map(readLicense));
  return licenses.join("\n---\n\n");
}

async function readLicense(name: string): Promise<string> {
  const directory = path.join(PACKAGES, name);
  const manifest: Manifest = JSON.parse(await readFile(path.join(directory, "package.json"), "utf8"));
  const { version, license, author = "" } = manifest;
  const holder = typeof author === "string" ? author : author.name;
  const file = (await readdir(directory)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? "" : `\n${await readFile(path.join(directory, file), "utf8")}`;
  return `${name} ${version}, ${license}${holder && `, by ${holder}`}\n${text}`;
}

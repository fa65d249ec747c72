/** A copy of the checkout as fresh from git: it neither has nor changes this one's secrets and data. */
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ROOT } from "./processes.ts";

const COPIED = [
  "src",
  "packages",
  "examples/demo",
  "docs",
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "LICENSE",
  "migrations",
  "wrangler.toml",
  "atrium.example.toml",
  "package.json",
  "tsconfig.json",
];

export interface Checkout {
  readonly root: string;
  /** A path in the copy. */
  readonly at: (...parts: string[]) => string;
  readonly remove: () => Promise<void>;
}

/** Copies the files that the commands read. The packages are only linked: nothing writes to them. */
export async function copyCheckout(): Promise<Checkout> {
  const root = await mkdtemp(path.join(tmpdir(), "atrium-checkout-"));
  for (const name of COPIED) await cp(path.join(ROOT, name), path.join(root, name), { recursive: true });
  await symlink(path.join(ROOT, "node_modules"), path.join(root, "node_modules"));
  return {
    root,
    at: (...parts) => path.join(root, ...parts),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Links the checkout's own packages in place of this one's, for what is built from their sources. */
export async function linkOwnPackages({ at }: Checkout): Promise<void> {
  const modules = path.join(ROOT, "node_modules");
  const names = (await readdir(modules)).filter((name) => !["atrium", "@atrium"].includes(name));
  await rm(at("node_modules"));
  await mkdir(at("node_modules/@atrium"), { recursive: true });
  for (const name of names) await symlink(path.join(modules, name), at("node_modules", name));
  for (const name of await readdir(path.join(modules, "@atrium")))
    await symlink(at("packages", name), at("node_modules/@atrium", name));
  await symlink(at("packages/sdk"), at("node_modules/atrium"));
}

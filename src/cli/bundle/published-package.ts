/** `atrium.tgz` among the files that a deployment serves. */
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { packPackage } from "../package/tarball.ts";
import { PUBLIC } from "./static-files.ts";

export async function publishPackage(stop: AbortSignal): Promise<void> {
  const tarball = await packPackage(stop);
  await mkdir(PUBLIC, { recursive: true });
  await copyFile(tarball, path.join(PUBLIC, "atrium.tgz"));
}

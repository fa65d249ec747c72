/** What a deployment would do: `npm run deploy -- --dry-run` builds the Worker and says it, without an account. */
import type { Wrangler } from "../process/wrangler.ts";
import type { Names } from "./steps.ts";

/** What `npm run deploy` knows before it asks Cloudflare. */
export interface DeploymentPlan {
  readonly names: Names;
  /** The organization of the first owner. */
  readonly organization: string;
  /** The files of the migrations, in their order. */
  readonly migrations: readonly string[];
  /** The bindings that run workflows, of which one is enough. */
  readonly runners: readonly string[];
}

/** Builds the Worker as a deployment does, and returns its size as wrangler says it; sends nothing. */
export async function buildOnly(wrangler: Wrangler): Promise<string | null> {
  const output = await wrangler(["deploy", "--minify", "--dry-run"]);
  return /Total Upload: (.+)/.exec(output)?.[1] ?? null;
}

/** The plan as text; `size` is that of the Worker. */
export const describePlan = (
  { names, organization, migrations, runners }: DeploymentPlan,
  size: string | null,
): string => `Nothing was sent to Cloudflare. npm run deploy would, as far as it is still missing,

  create   the ${names.databases.length === 1 ? "database" : "databases"} ${names.databases.join(", ")}, the bucket ${names.bucket} and the secret JWT_SECRET
  apply    ${migrations.length} migrations, up to ${migrations.at(-1) ?? "none"}
  publish  the Worker ${names.worker}${size === null ? "" : ` (${size})`}
  link     the first owner of "${organization}", unless someone can sign in

${runners.length > 0 ? `Workflows run by ${runners.join(" and ")}.` : "Workflows would not run: wrangler.toml names neither a Worker Loader nor a dispatch namespace. All else works."}`;

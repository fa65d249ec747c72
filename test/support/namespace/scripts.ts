/** The scripts of the namespace as they are kept: one object of JSON each. */
import { z } from "zod";

/** The bindings of the stand-in. */
export interface NamespaceEnv {
  readonly LOADER: WorkerLoader;
  /** The kept scripts. */
  readonly SCRIPTS: R2Bucket;
  /** The one account, its one namespace, and the token that may write there. */
  readonly ACCOUNT_ID: string;
  readonly NAMESPACE: string;
  readonly API_TOKEN: string;
}

/** The description of a script in its upload, as far as the stand-in knows it: the scripts have no bindings. */
export const Metadata = z.strictObject({
  main_module: z.string(),
  bindings: z.array(z.never()).default([]),
  compatibility_date: z.iso.date(),
  compatibility_flags: z.array(z.string()).default([]),
  limits: z
    .strictObject({
      cpu_ms: z.int().min(1).max(30_000).optional(),
      subrequests: z.int().min(1).optional(),
    })
    .optional(),
  tags: z
    .array(z.string().regex(/^[^,&]+$/, "A tag has no , and no &"))
    .max(8, "A script has at most 8 tags")
    .default([]),
  observability: z.looseObject({ enabled: z.boolean() }).optional(),
  keep_bindings: z.array(z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  code_update_strategy: z.unknown().optional(),
  package_dependencies: z.unknown().optional(),
});

export interface ScriptModule {
  readonly name: string;
  readonly type: string;
  /** Content in Base64. */
  readonly content: string;
}

export interface Script {
  readonly name: string;
  readonly metadata: z.infer<typeof Metadata>;
  readonly modules: readonly ScriptModule[];
  /** Another one after each upload: no isolate of before answers for it. */
  readonly etag: string;
}

export const findScript = async ({ SCRIPTS }: NamespaceEnv, name: string): Promise<Script | null> =>
  (await SCRIPTS.get(name))?.json<Script>() ?? null;

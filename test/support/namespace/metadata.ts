/** What an upload says of its script beside the modules, checked as far as the stand-in knows it. */
import { z } from "zod";
import { invalid } from "./envelope.ts";

const Binding = z.discriminatedUnion("type", [
  z.object({ type: z.literal("plain_text"), name: z.string(), text: z.string() }),
  z.object({ type: z.literal("secret_text"), name: z.string(), text: z.string() }),
  z.object({ type: z.literal("json"), name: z.string(), json: z.unknown() }),
  z.object({ type: z.literal("inherit"), name: z.string() }),
]);
export type Binding = z.infer<typeof Binding>;

export const Tags = z
  .array(z.string().regex(/^[^,&]+$/, "A tag has no , and no &"))
  .max(8, "A script has at most 8 tags");

const Metadata = z.strictObject({
  main_module: z.string(),
  bindings: z.array(Binding).default([]),
  compatibility_date: z.iso.date(),
  compatibility_flags: z.array(z.string()).default([]),
  limits: z
    .strictObject({
      cpu_ms: z.int().min(1).max(30_000).optional(),
      subrequests: z.int().min(1).optional(),
    })
    .optional(),
  tags: Tags.default([]),
  observability: z.looseObject({ enabled: z.boolean() }).optional(),
  logpush: z.boolean().optional(),
  keep_bindings: z.array(z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  tail_consumers: z.array(z.looseObject({ service: z.string() })).optional(),
  usage_model: z.string().optional(),
  code_update_strategy: z.unknown().optional(),
  package_dependencies: z.unknown().optional(),
});
export type Metadata = z.infer<typeof Metadata>;

/** The metadata of an upload, with what it takes over from the script that it replaces. */
export function parseMetadata(text: string, before: Metadata | null): Metadata {
  const { success, data, error } = Metadata.safeParse(parseJson(text));
  if (!success) throw invalid(`metadata: ${z.prettifyError(error)}`);
  const old = before?.bindings ?? [];
  const named = data.bindings.map((binding) =>
    binding.type === "inherit" ? inherited(binding, old) : binding,
  );
  const isKept = ({ name, type }: Binding) =>
    data.keep_bindings?.includes(type) === true && !named.some((binding) => binding.name === name);
  return { ...data, bindings: [...named, ...old.filter(isKept)] };
}

function inherited({ name }: Binding, old: readonly Binding[]): Binding {
  const binding = old.find((candidate) => candidate.name === name);
  if (binding === undefined) throw invalid(`There is no binding ${name} to inherit`);
  return binding;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("The request body must be valid JSON");
  }
}

/** The samples of an operation, in each language that has one. */
import { curlSample } from "./curl-sample.ts";
import { fetchSample } from "./fetch-sample.ts";
import { type Entry, isJson, isUpgrade, type Schemas } from "./model.ts";
import { SDK_PRELUDE } from "./sdk-sample.ts";
import { SDK_SAMPLES } from "./sdk-samples.ts";

/** A sample, and the language that its tab names: the guides name theirs alike. */
export interface Sample {
  readonly language: "Shell" | "TypeScript" | "fetch" | "JavaScript";
  readonly text: string;
}

export function samplesOf(entry: Entry, schemas: Schemas): Sample[] {
  if (isUpgrade(entry.operation)) return [{ language: "JavaScript", text: socketSample(entry) }];
  const sdk = SDK_SAMPLES[entry.operation.operationId];
  return [
    { language: "Shell", text: curlSample(entry, schemas) },
    ...(sdk !== undefined && "code" in sdk
      ? [{ language: "TypeScript", text: `${SDK_PRELUDE}\n${sdk.code}` } as const]
      : []),
    ...(isJson(entry) ? [{ language: "fetch", text: fetchSample(entry, schemas) } as const] : []),
  ];
}

/** How the SDK does the same for which it has no call; null where it has one. */
export function insteadOfSdk({ operation }: Entry): string | null {
  const sdk = SDK_SAMPLES[operation.operationId];
  return sdk !== undefined && "none" in sdk ? sdk.none : null;
}

const socketSample = ({ path }: Entry): string =>
  `const socket = new WebSocket(\`\${baseUrl}${path.replaceAll("{", "${")}\`);`;

/** A sample of the SDK, and how each begins. */

/** A call of the SDK, or why it has none of this operation. */
export type SdkSample = { readonly code: string } | { readonly none: string };

/** Begins each sample. */
export const SDK_PRELUDE = `import { AtriumServer } from "atrium/server";

export const atrium = new AtriumServer({ serverUrl, accountId, apiKey });
`;

export const code = (text: string): SdkSample => ({ code: text });
export const none = (reason: string): SdkSample => ({ none: reason });

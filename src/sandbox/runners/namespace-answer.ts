/** The envelope of each response of Cloudflare's API for scripts. */

/** The envelope of each response. */
export interface Answer {
  readonly success: boolean;
  readonly errors: readonly { readonly code: number; readonly message: string }[];
}

/** Reads an envelope. Anything else, such as a gateway's error page, is a failure without reasons. */
export function parseAnswer(text: string): Answer {
  try {
    const { success, errors } = JSON.parse(text) as { success?: unknown; errors?: unknown };
    const listed = Array.isArray(errors) ? (errors as { code?: unknown; message?: unknown }[]) : [];
    return {
      success: success === true,
      errors: listed.map(({ code, message }) => ({ code: Number(code), message: String(message) })),
    };
  } catch {
    return { success: false, errors: [] };
  }
}

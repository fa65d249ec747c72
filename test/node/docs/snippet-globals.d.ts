/** Values that the snippets of the documentation take for granted. */
import type { AtriumClient } from "atrium/client";
import type { AtriumServer } from "atrium/server";
import type { Doc } from "yjs";

declare global {
  const accountId: string;
  const apiKey: string;
  const authToken: string;
  const roomId: string;
  const groupId: string;
  const identityId: string;
  const userId: string;
  const webhookId: string;
  const workflowId: string;
  const token: string;
  const doc: Doc;
  const newToken: () => Promise<string>;
  const file: File;
  const model: { readonly textStream: AsyncIterable<string> };
  const atrium: AtriumServer;
  const client: AtriumClient<{
    readonly tasks: {
      readonly title: { readonly type: "string"; readonly required: true };
      readonly done: { readonly type: "boolean"; readonly default: false };
    };
  }>;
}

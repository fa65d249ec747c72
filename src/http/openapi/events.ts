/** Describes what the service posts to URLs of its users. */
import * as z from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";

/** What the service posts to URLs of its users, by the event's name. */
export type DocumentedEvents = Readonly<
  Record<string, { readonly summary: string; readonly schema: z.ZodType }>
>;

const SignedHeaders = z.object({
  "webhook-id": z.string().meta({ description: "The event's ID, the same for every attempt." }),
  "webhook-timestamp": z.string().meta({ description: "When the attempt began, in seconds since 1970." }),
  "webhook-signature": z.string().meta({
    description:
      "`v1,` and the signature in Base64, as Standard Webhooks defines it; several are separated by spaces.",
  }),
});

/** `participant.joined` as `onParticipantJoined`. */
const receiverOf = (name: string): string =>
  `on${name
    .split(".")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("")}`;

/** The section `webhooks`. */
export const webhooksOf = (events: DocumentedEvents): ZodOpenApiPathsObject =>
  Object.fromEntries(
    Object.entries(events).map(([name, { summary, schema }]) => {
      const post: ZodOpenApiOperationObject = {
        operationId: receiverOf(name),
        tags: ["Webhooks"],
        summary,
        security: [],
        requestParams: { header: SignedHeaders },
        requestBody: { required: true, content: { "application/json": { schema } } },
        responses: {
          "2XX": { description: "The event has arrived. Any other status has it sent again." },
          "410": { description: "No event is wanted any more: the webhook is disabled." },
        },
      };
      return [name, { post }];
    }),
  );

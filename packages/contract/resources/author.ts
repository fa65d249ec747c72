/** The author of a change of a document. */
import * as z from "zod";

/** The author of an edit, on the wire. */
export const DocumentAuthor = z
  .object({
    type: z.enum(["user", "key", "person", "workflow", "organization"]).meta({
      description:
        "`user`: a user of the room. `key`, `person`: an API key or a member of the organization. `workflow`: a run of one. `organization`: a key or a member, before the service kept which.",
    }),
    id: z.string().nullable().meta({ description: "Null for `organization`.", example: "ada" }),
  })
  .meta({ id: "Author" });
export type DocumentAuthor = z.infer<typeof DocumentAuthor>;

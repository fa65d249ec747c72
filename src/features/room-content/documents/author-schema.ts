/** The author of something in a document, on the wire. */
import * as z from "zod";
import type { Author } from "../../../room/port/document-history.ts";

/** Who wrote something in a document. */
export const DocumentAuthor = z
  .object({
    type: z.enum(["user", "key", "person", "organization"]).meta({
      description:
        "`user`: a user of the room. `key`, `person`: an API key or a member of the organization. `organization`: one of these, before the service kept which.",
    }),
    id: z.string().nullable().meta({ description: "Null for `organization`.", example: "ada" }),
  })
  .meta({ id: "Author" });
export type DocumentAuthor = z.infer<typeof DocumentAuthor>;

export const presentAuthor = (author: Author): DocumentAuthor => ({
  type: author.type,
  id: author.type === "organization" ? null : author.id,
});

/** Organizations on the wire. */

import * as z from "zod";
import { Name } from "../text.ts";
import { Timestamp } from "../time.ts";

/** An organization: its ID is the Account ID. */
export const Organization = z.object({ id: z.uuid(), name: z.string(), created_at: Timestamp }).meta({
  id: "Organization",
  example: {
    id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
    name: "Analytical Engines",
    created_at: "2026-01-31T09:00:00.000Z",
  },
});
export type Organization = z.infer<typeof Organization>;

export const OrganizationUpdate = z
  .strictObject({ name: Name })
  .meta({ id: "OrganizationUpdate", example: { name: "Analytical Engines" } });
export type OrganizationUpdate = z.infer<typeof OrganizationUpdate>;

export const OrganizationDeletion = z
  .strictObject({ confirm: z.string().meta({ description: "The organization's name, exactly as it is." }) })
  .meta({ id: "OrganizationDeletion", example: { confirm: "Analytical Engines" } });
export type OrganizationDeletion = z.infer<typeof OrganizationDeletion>;

/** The audit log on the wire. */

import * as z from "zod";
import { AUDIT_ACTORS, AUDIT_RESOURCES } from "../resources/audit-names.ts";
import { Timestamp } from "../time.ts";

export const AuditResource = z.enum(AUDIT_RESOURCES);

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const AuditEntry = z
  .object({
    id: z.uuid(),
    at: Timestamp,
    actor: z.object({
      type: z.enum(AUDIT_ACTORS).meta({
        description:
          "A member, an API key, the operator of the service with `npm run account`, or the service itself, which deletes rooms that expire.",
      }),
      id: z.string().nullable().meta({ description: "The person's or the key's ID; `null` for the others." }),
      name: z.string().nullable().meta({ description: "The name at the time of the change." }),
    }),
    operation: z.string().meta({ description: "The `operationId` of the endpoint." }),
    resource: z.object({
      type: AuditResource,
      id: z.string().nullable().meta({ description: "`null` if there is only one of this type." }),
    }),
    changes: z.record(z.string(), Value).meta({
      description:
        "The fields that the request had, with the new value where it can hold no secret, and otherwise `null`.",
    }),
    address: z
      .string()
      .nullable()
      .meta({ description: "The network from which the request came: a /24 of IPv4 or a /48 of IPv6." }),
    request_id: z.string().nullable(),
  })
  .meta({
    id: "AuditEntry",
    example: {
      id: "0b54a3c2-6f0d-4c8e-9a41-7d2e5f8b1c36",
      at: "2026-01-31T09:30:00.000Z",
      actor: { type: "person", id: "5e1b6f0a-3c54-4a3e-9d0f-7a2c8b4d1e90", name: "Ada" },
      operation: "updateMember",
      resource: { type: "member", id: "7c9e6679-7425-40de-944b-e07fc1f90ae7" },
      changes: { role: "owner" },
      address: "203.0.113.0/24",
      request_id: "6b1d4c0e-2f37-4a58-9c1b-7e5a0d92f3b6",
    },
  });
export type AuditEntry = z.infer<typeof AuditEntry>;

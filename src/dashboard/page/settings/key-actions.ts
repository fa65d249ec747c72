/** What can be done with several API keys. */
import type { ApiKey } from "atrium/server";
import { useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import type { BulkAction } from "../ui/several.tsx";

/** What can be done with several API keys. */
export function useKeyActions(): readonly BulkAction<ApiKey>[] {
  const { organization } = useCurrent().atrium;
  return [
    {
      label: "Revoke",
      done: "revoked",
      consequences: "Requests with these keys fail within 10 seconds. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => organization.revokeKey(id)),
    },
  ];
}

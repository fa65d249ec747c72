/** Request IDs, as links to the request log. */
import { Link } from "wouter";
import { useOrganizationAddress } from "../data/use-address.ts";

/** A request ID; within an organization, as a link to its log. */
export function RequestLink({ id }: { readonly id: string }) {
  const address = useOrganizationAddress();
  return address === null ? id : <Link href={address(`/logs?id=${id}`)}>{id}</Link>;
}

/** Which request an event follows from; nothing where that is not known. */
export const CausedBy = ({ requestId }: { readonly requestId: string | undefined }) =>
  requestId === undefined ? null : (
    <p className="soft small">
      Caused by the request <RequestLink id={requestId} />
    </p>
  );

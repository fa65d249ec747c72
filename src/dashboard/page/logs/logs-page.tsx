/** The logs: the requests to the API, and who changed what in the organization. */
import { Link, useParams } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Page } from "../ui/page.tsx";
import { AuditPart } from "./audit-part.tsx";
import { RequestsPart } from "./requests-part.tsx";

const PARTS = [
  { name: "Requests", part: undefined, Content: RequestsPart },
  { name: "Audit log", part: "audit", Content: AuditPart },
];

export default function LogsPage() {
  const { part } = useParams();
  const address = useAddress();
  const { Content = RequestsPart } = PARTS.find((one) => one.part === part) ?? {};
  return (
    <Page title="Logs">
      <nav className="tabs" aria-label="Logs">
        {PARTS.map((one) => (
          <Link
            key={one.name}
            href={address(one.part === undefined ? "/logs" : `/logs/${one.part}`)}
            aria-current={one.part === part ? "page" : undefined}
          >
            {one.name}
          </Link>
        ))}
      </nav>
      <Content />
    </Page>
  );
}

/** The logs: the requests to the API, and who changed what in the organization. */
import { useParams } from "wouter";
import { Page, Tabs } from "../ui/page.tsx";
import { AuditPart } from "./audit-part.tsx";
import { RequestsPart } from "./requests-part.tsx";

const PARTS = [
  { name: "Requests", path: "", Content: RequestsPart },
  { name: "Audit log", path: "/audit", Content: AuditPart },
];

export default function LogsPage() {
  const { part = "" } = useParams();
  const { Content = RequestsPart } = PARTS.find(({ path }) => path === `/${part}`) ?? {};
  return (
    <Page title="Logs">
      <Tabs label="Logs" base="/logs" tabs={PARTS} />
      <Content />
    </Page>
  );
}

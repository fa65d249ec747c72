/** The menu that switches between organizations. */
import { Menu } from "@base-ui/react/menu";
import { useLocation } from "wouter";
import { useCurrent } from "../data/organization.tsx";
import { DropMenu } from "../ui/drop-menu.tsx";
import { Icon } from "../ui/icon.tsx";
import { Monogram } from "../ui/monogram.tsx";

export function OrganizationMenu() {
  const { me, organization } = useCurrent();
  const [, go] = useLocation();
  return (
    <DropMenu
      label={`Organization: ${organization.name}`}
      className="organization"
      face={
        <>
          <Monogram name={organization.name} />
          <span className="organization-name">{organization.name}</span>
          <Icon name="up" />
        </>
      }
    >
      {me.organizations.map(({ id, name }) => (
        <Menu.Item key={id} onClick={() => go(`/${id}`)}>
          <Icon name={id === organization.id ? "check" : "overview"} />
          {name}
        </Menu.Item>
      ))}
      <Menu.Separator className="separator" />
      <Menu.Item onClick={() => go("/new")}>
        <Icon name="plus" />
        New organization
      </Menu.Item>
    </DropMenu>
  );
}

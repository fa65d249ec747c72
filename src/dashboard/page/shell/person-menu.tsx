/** The menu of the signed-in person: profile, theme, sign out. */
import { Menu } from "@base-ui/react/menu";
import { useLocation } from "wouter";
import { useSignOut } from "../data/me.ts";
import { useCurrent } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { DropMenu } from "../ui/drop-menu.tsx";
import { Monogram } from "../ui/monogram.tsx";
import { chooseTheme, THEME_NAMES, THEMES, useTheme } from "../ui/theme.ts";

export function PersonMenu() {
  const { person } = useCurrent().me;
  const theme = useTheme();
  const signOut = useSignOut();
  const address = useAddress();
  const [, go] = useLocation();
  return (
    <DropMenu
      label={`Account: ${person.name}`}
      className="button quiet person"
      face={
        <>
          <Monogram name={person.name} isRound />
          <span className="person-name">{person.name}</span>
        </>
      }
    >
      <p className="soft small menu-note">{person.email}</p>
      <Menu.Item onClick={() => go(address("/settings/profile"))}>Profile</Menu.Item>
      <Menu.Separator className="separator" />
      <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
        {THEMES.map((value) => (
          <Menu.RadioItem key={value} value={value}>
            {THEME_NAMES[value]}
            <Menu.RadioItemIndicator className="indicator">✓</Menu.RadioItemIndicator>
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
      <Menu.Separator className="separator" />
      <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
    </DropMenu>
  );
}

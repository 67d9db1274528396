import { Compass } from "lucide-react";
import { Page } from "../components/page.tsx";
import { Empty } from "../components/states.tsx";

export const NotFound = () => (
  <Page title="Not found">
    <Empty icon={Compass} title="There is no page at this address">
      The navigation links to all existing pages.
    </Empty>
  </Page>
);

import type { Feature } from "../../core/feature.ts";

export {
  countLiquid,
  findLiquidFault,
  isTranslationId,
  readTranslationTags,
  renderContent,
  type TranslationTag,
} from "./liquid.ts";
export { mask, maskName, maskNested, unmask } from "./liquid-names.ts";

export const feature = { name: "liquid" } satisfies Feature;

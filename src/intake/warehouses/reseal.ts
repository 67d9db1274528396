import type { SealedKind } from "../../admin/secrets/rotate.ts";
import { selectWarehouses, updateWarehouses } from "./store.ts";
import { resealWarehouse } from "./stored-warehouse.ts";

/**
 * The credentials of warehouses. Credentials whose key is lost are left unchanged, because the
 * integration keeps its progress; declaring it again replaces them.
 */
export const warehouseCredentials: SealedKind = {
  kind: "warehouse_credentials",
  async reseal(tx, reseal) {
    const rows = await selectWarehouses(tx);
    const changed = rows.flatMap((row) => {
      const warehouse = resealWarehouse(row.workspaceId, row, reseal);
      return warehouse ? [{ ...row, warehouse }] : [];
    });
    await updateWarehouses(tx, changed);
  },
};

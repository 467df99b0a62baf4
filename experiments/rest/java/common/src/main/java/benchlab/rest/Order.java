// SPDX-License-Identifier: Apache-2.0
// The document that is echoed.
package benchlab.rest;

import java.util.List;

record Order(
        int id,
        Customer customer,
        boolean express,
        String note,
        String remark,
        double discount,
        List<Item> items) {

    record Customer(String name, String city, int since) {}

    record Item(String sku, String name, int quantity, double price, List<String> tags) {}
}

// SPDX-License-Identifier: Apache-2.0

package main

// order is the document for /api/echo.
type order struct {
	ID       int64    `json:"id"`
	Customer customer `json:"customer"`
	Express  bool     `json:"express"`
	Note     *string  `json:"note"`
	Remark   string   `json:"remark"`
	Discount float64  `json:"discount"`
	Items    []item   `json:"items"`
}

type customer struct {
	Name  string `json:"name"`
	City  string `json:"city"`
	Since int    `json:"since"`
}

type item struct {
	SKU      string   `json:"sku"`
	Name     string   `json:"name"`
	Quantity int      `json:"quantity"`
	Price    float64  `json:"price"`
	Tags     []string `json:"tags"`
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
)

const (
	numberMax = 999_999
	echoMax   = 64 << 10
)

type greeting struct {
	Greeting string `json:"greeting"`
}

type numbered struct {
	Greeting string `json:"greeting"`
	Number   uint64 `json:"number"`
}

// routes implements the routes in experiments/rest/README.md. It serves the static files in the directory
// folder.
func routes(folder string) http.Handler {
	// Overrides the system's table of types, if there is one.
	mime.AddExtensionType(".bin", "application/octet-stream")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api", constant)
	mux.HandleFunc("GET /api/built", built)
	mux.HandleFunc("GET /api/hello/{name}", hello)
	mux.HandleFunc("POST /api/echo", echo)
	mux.Handle("GET /files/{name}", http.StripPrefix("/files/", http.FileServer(http.Dir(folder))))
	return mux
}

func constant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"greeting":"Hello World!"}`)
}

func built(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseUint(r.URL.Query().Get("number"), 10, 64)
	if err != nil || number > numberMax {
		http.Error(w, "number must be from 0 to 999999", http.StatusBadRequest)
		return
	}
	writeJSON(w, numbered{"Hello World!", number})
}

var validName = regexp.MustCompile(`^[A-Za-z0-9 .'"-]{1,32}$`)

func hello(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !validName.MatchString(name) {
		http.Error(w, "invalid name", http.StatusBadRequest)
		return
	}
	writeJSON(w, greeting{"Hello " + name + "!"})
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, echoMax))
	if err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	var order order
	if err := json.Unmarshal(body, &order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	writeJSON(w, order)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value) // errors are those of the connection, which then ends
}

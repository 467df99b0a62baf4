<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

/** A page with its status and headers. */
final class Response
{
    /** @param array<string, string> $headers */
    public function __construct(private string $body, private int $status = 200, private array $headers = [])
    {
    }

    public function send(): void
    {
        http_response_code($this->status);
        header('Content-Type: text/html; charset=utf-8');
        header('Content-Length: ' . strlen($this->body));
        foreach ($this->headers as $name => $value) {
            header("$name: $value");
        }
        echo $this->body;
    }
}

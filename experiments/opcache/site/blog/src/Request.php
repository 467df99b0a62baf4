<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

/** A parsed request. */
final class Request
{
    public function __construct(
        public readonly string $method,
        public readonly ?int $post,
        public readonly ?string $tag,
    ) {
    }

    public static function fromGlobals(): self
    {
        $post = filter_input(INPUT_GET, 'post', FILTER_VALIDATE_INT, ['options' => ['min_range' => 1]]);
        $tag = $_GET['tag'] ?? null;
        return new self($_SERVER['REQUEST_METHOD'], is_int($post) ? $post : null, is_string($tag) && $tag !== '' ? $tag : null);
    }
}

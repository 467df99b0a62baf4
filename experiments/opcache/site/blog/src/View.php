<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

/** Templates in PHP, within a common layout. */
final class View
{
    public function __construct(private string $folder)
    {
    }

    /** @param array<string, mixed> $values */
    public function page(string $template, array $values): string
    {
        return $this->part('layout', ['content' => $this->part($template, $values)] + $values);
    }

    /** @param array<string, mixed> $values */
    public function part(string $template, array $values): string
    {
        $view = $this;
        $text = static fn (string $text): string => htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
        extract($values, EXTR_SKIP);
        ob_start();
        require $this->folder . '/' . $template . '.php';
        return ob_get_clean();
    }
}
